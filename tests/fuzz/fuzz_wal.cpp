#include "apps/postgres/server/wal_records.hpp"
#include "fuzz/input.hpp"

#include <cstring>

/// Properties: the good log of a file of PostgreSQL's log ends within the file, and bytes behind
/// its end do not matter. The messages in the file ascend and begin within it.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace muster;
  constexpr std::size_t page = 8192;
  std::string file(reinterpret_cast<const char*>(data), size);
  file.resize((size + page - 1) / page * page);
  postgres::Lsn begin;
  if (file.size() >= 16) std::memcpy(&begin.value, file.data() + 8, sizeof begin.value);
  begin.value &= 0xFFFFFFFFFFFFULL;
  if (file.size() >= 16) std::memcpy(file.data() + 8, &begin.value, sizeof begin.value);

  const postgres::GoodLog good = postgres::good_log(file, begin);
  fuzz::require(begin <= good.rest && good.rest <= good.whole && good.whole <= good.end);
  postgres::Lsn last = begin;
  for (const postgres::LogMessage& message : postgres::messages_in(file, begin, file.size())) {
    fuzz::require(last <= message.at && message.at.value < begin.value + file.size());
    last = message.at;
  }
  const std::size_t length = good.end.value - begin.value;
  fuzz::require(length <= file.size());
  std::fill(file.begin() + static_cast<std::ptrdiff_t>(length), file.end(), '\0');
  fuzz::require(postgres::good_log(file, begin).end == good.end);
  return 0;
}
