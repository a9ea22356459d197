// The definitions of Asio's functions. The other files of this library only see their declarations.
//
// A program can also include Asio as headers. It then has its own inline definitions, and its
// compiler can access their static variables directly, such as the state of all signals. The
// library and the program must share these. So the functions are inline here too: each function and
// each static variable is a weak symbol with the same name, and the linker keeps one. If a program
// compiles Asio separately, its strong symbols win. Nothing is inlined here, so every call and
// every variable is then the program's.
//
// "used" makes the compiler emit all functions, and "weak" makes clang emit every constructor.
#undef BOOST_ASIO_HEADER_ONLY
#ifndef BOOST_ASIO_SEPARATE_COMPILATION
#define BOOST_ASIO_SEPARATE_COMPILATION
#endif
#define BOOST_ASIO_DECL inline __attribute__((used, weak, noinline))
#include <boost/asio/impl/src.hpp>
