/// \file
/// What sanitizers do not let a child of fork() do, for tests to be skipped by:
///
///     TEST_CASE("forks" * doctest::skip(child_has_no_threads)) {...}
#pragma once

namespace sinter::tests {

/// ThreadSanitizer refuses new threads in the child of a process that had several.
inline constexpr bool child_has_no_threads =
#ifdef __SANITIZE_THREAD__
    true;
#else
    false;
#endif

/// AddressSanitizer, at least that of GCC 12, leaves locks of its allocator taken in the child
/// where another thread held one at the fork: the next allocation there waits for ever.
inline constexpr bool child_has_no_allocator =
#ifdef __SANITIZE_ADDRESS__
    true;
#else
    false;
#endif

}  // namespace sinter::tests
