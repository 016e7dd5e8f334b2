// C++ names for the tests: a namespace, a class, a template and an inlined member.
namespace demo {

template <typename T>
struct Counter {
  T value;
  __attribute__((always_inline)) void bump(T by) {
    __asm__ volatile(".globl spot_bump\nspot_bump:\n\tnop" ::: "memory");  // MARK bump
    value += by;
  }
};

namespace {
__attribute__((noinline)) int hidden(int x) {
  __asm__ volatile(".globl spot_hidden\nspot_hidden:\n\tnop" ::: "memory");  // MARK hidden
  return x * x;
}
}  // namespace

__attribute__((noinline)) int count(Counter<int>& counter) {
  counter.bump(hidden(counter.value));  // MARK count
  return counter.value;
}

}  // namespace demo

extern "C" int _start() {
  demo::Counter<int> counter{3};
  return demo::count(counter);
}
