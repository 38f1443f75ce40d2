/* SPDX-License-Identifier: Apache-2.0 */
/* An account that several threads may use. */
#ifndef ACCOUNT_H
#define ACCOUNT_H

int account_get(void);
void account_set(int balance);
void account_deposit(int amount);

#endif
