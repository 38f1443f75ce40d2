/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Included before C++ that clang compiles with -finstrument-functions: definitions of
 * libstdc++ in namespace std get no hooks. gcc has an option for that. clang has only an attribute,
 * which the macros around the definitions push and pop. Without such a header, functions of the
 * library have hooks, and cost more.
 */
#if defined(__cplusplus) && defined(__has_include)
#if __has_include(<bits/c++config.h>)
#include <bits/c++config.h>
#if defined(__GLIBCXX__) && !_GLIBCXX_INLINE_VERSION && !defined(TMESIS_LIBSTDCXX)
#define TMESIS_LIBSTDCXX
#undef _GLIBCXX_BEGIN_NAMESPACE_VERSION
#undef _GLIBCXX_END_NAMESPACE_VERSION
#define _GLIBCXX_BEGIN_NAMESPACE_VERSION                                                           \
    _Pragma("clang attribute push(__attribute__((no_instrument_function)), apply_to = function)")
#define _GLIBCXX_END_NAMESPACE_VERSION _Pragma("clang attribute pop")
/* These two define functions that everything else calls, without the macros. */
#pragma clang attribute push(__attribute__((no_instrument_function)), apply_to = function)
#if __has_include(<bits/predefined_ops.h>)
#include <bits/predefined_ops.h>
#endif
#if __cplusplus >= 201103L && __has_include(<ext/aligned_buffer.h>)
#include <ext/aligned_buffer.h>
#endif
#pragma clang attribute pop
#endif
#endif
#endif
