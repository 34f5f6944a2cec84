# SPDX-License-Identifier: BSD-3-Clause
windrow_test(contention_test.cpp)
