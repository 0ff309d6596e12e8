! Procedures, loops and a computed choice.
module sums
contains
  recursive function factorial(n) result(f)
    integer, intent(in) :: n
    integer :: f
    if (n <= 1) then
      f = 1
    else
      f = n * factorial(n - 1)
    end if
  end function
  subroutine fill(a)
    integer, intent(out) :: a(:)
    integer :: i
    do i = 1, size(a)
      select case (mod(i, 3))
      case (0)
        a(i) = 0
      case (1)
        a(i) = factorial(mod(i, 5))
      case default
        a(i) = -i
      end select
    end do
  end subroutine
end module
program main
  use sums
  integer :: a(12)
  call fill(a)
  where (a < 0) a = -a
  if (sum(a) > 100000) print *, 'large'
end program
