#include "base/result.h"

namespace qperf {

Error Error::in(std::string_view context) && {
  std::string text(context);
  text += ": ";
  text += message;
  return Error{code, std::move(text)};
}

}  // namespace qperf
