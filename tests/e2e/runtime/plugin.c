/* SPDX-License-Identifier: Apache-2.0 */
/* A shared library with a variable, instrumented as well; see loaded.c. */
void plugin_write(void);

static int x;

void plugin_write(void)
{
    x++;
}
