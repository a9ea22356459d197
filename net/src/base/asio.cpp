// Asio's functions, for the other files of this library: they see the declarations only.
//
// A program that includes Asio as headers has these functions too, as inline ones, and the
// compiler may put their statics, such as the state of all signals, straight into the caller. So
// they are inline here as well: each function and each static is a weak symbol of the same name,
// and the linker keeps one. A program that compiles Asio itself has strong symbols, which win:
// nothing is inlined here, so every call and every static is the program's then.
//
// "used" has the compiler write them all, and "weak" has clang write every constructor.
#undef BOOST_ASIO_HEADER_ONLY
#ifndef BOOST_ASIO_SEPARATE_COMPILATION
#define BOOST_ASIO_SEPARATE_COMPILATION
#endif
#define BOOST_ASIO_DECL inline __attribute__((used, weak, noinline))
#include <boost/asio/impl/src.hpp>
