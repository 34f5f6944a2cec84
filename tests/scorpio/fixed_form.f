! SPDX-License-Identifier: BSD-3-Clause
! The include in fixed form, by a code of old.
      program fixed
      implicit none
      include 'scorpiof.h'
      if (SCORPIO_NONCONTIGUOUS_WRITE .ne. 6) stop 1
      if (SCORPIO_FILE_READWRITE .ne. 2 .or. SCORPIO_STRING .ne. 6)
     &  stop 1
      print '(a)', 'all as expected'
      end
