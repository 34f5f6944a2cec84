/* SPDX-License-Identifier: BSD-3-Clause */
/** Marks what the shared library exports. */
#pragma once
#if defined(__GNUC__)
#define WINDROW_API __attribute__((visibility("default")))
#else
#define WINDROW_API
#endif
