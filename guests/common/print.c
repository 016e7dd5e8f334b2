#include <stdarg.h>

#include "kernel.h"
#include "spinlock.h"

static struct spinlock console_lock;

static void put_string(const char* text) {
  for (; *text; text++) {
    if (*text == '\n') arch_console_putc('\r');
    arch_console_putc(*text);
  }
}

static void put_number(u64 value, u64 base) {
  char digits[24];
  size_t at = sizeof digits;
  digits[--at] = 0;
  do {
    digits[--at] = "0123456789abcdef"[value % base];
    value /= base;
  } while (value);
  put_string(digits + at);
}

void print(const char* format, ...) {
  va_list args;
  va_start(args, format);
  const u64 flags = arch_irq_save();
  spin_lock(&console_lock);
  for (; *format; format++) {
    if (*format != '%') {
      put_string((const char[]){*format, 0});
      continue;
    }
    format++;
    const bool is_long = *format == 'l';
    if (is_long) format++;
    if (*format == 's') put_string(va_arg(args, const char*));
    if (*format == 'c') put_string((const char[]){(char)va_arg(args, int), 0});
    if (*format == '%') put_string("%");
    if (*format == 'u' || *format == 'x') {
      const u64 value = is_long ? va_arg(args, u64) : va_arg(args, u32);
      put_number(value, *format == 'u' ? 10 : 16);
    }
  }
  spin_unlock(&console_lock);
  arch_irq_restore(flags);
  va_end(args);
}
