#include <muster/net/frame.hpp>
#include <muster/values/archive.hpp>

#include <boost/mp11/algorithm.hpp>

#include <algorithm>
#include <cstring>
#include <utility>

namespace muster::net {

namespace {

// length u32 | CRC-32 u32 | version u8 | kind u8
constexpr std::size_t length_bytes = 4;
constexpr std::size_t checksum_at = 4;
constexpr std::size_t version_at = 8;
constexpr std::size_t kind_at = 9;
constexpr std::size_t header_bytes = 10;

constexpr std::size_t first_room = 4096;
constexpr std::size_t most_room = frame_limit + length_bytes;

void put(char* to, std::uint32_t value) {
  for (int i = 0; i < 4; ++i) to[i] = static_cast<char>(value >> (8 * i) & 0xFF);
}

std::uint32_t take(const char* from) {
  std::uint32_t value = 0;
  for (int i = 3; i >= 0; --i) value = value << 8 | static_cast<unsigned char>(from[i]);
  return value;
}

// The kind of a frame on the wire: its position in the variant, counted from 1.
template <class Body>
constexpr std::uint8_t kind_of = boost::mp11::mp_find<Frame, Body>::value + 1;

bool is_greeting(std::uint8_t kind) {
  return kind == kind_of<Hello> || kind == kind_of<Refusal>;
}

// The first wire version that contains this kind of letter.
std::uint8_t since(const Letter& letter) {
  const auto* answer = std::get_if<Answer>(&letter.message);
  const bool of_group = std::holds_alternative<in_group::AreYouThere>(letter.message) ||
                        (answer && std::holds_alternative<Elsewhere>(answer->result));
  return of_group ? 3 : wire_oldest;
}

// The letter in the form that an earlier version has. A node of an earlier version does not tell
// its group, and is not asked about a group.
Carried as_before(const Carried& carried) {
  Carried before = carried;
  before.letter.message = is_answer(carried.letter) ? Message(Answer{Here{}}) : AreYouThere{};
  return before;
}

std::size_t begin_frame(std::string& out, std::uint8_t version, std::uint8_t kind) {
  const std::size_t at = out.size();
  out.append(header_bytes, '\0');
  out[at + version_at] = static_cast<char>(is_greeting(kind) ? host::wire_of_greetings : version);
  out[at + kind_at] = static_cast<char>(kind);
  return at;
}

void end_frame(std::string& out, std::size_t at) {
  put(&out[at], static_cast<std::uint32_t>(out.size() - at - length_bytes));
  put(&out[at + checksum_at], checksum(std::string_view(out).substr(at + version_at)));
}

Failure garbage(std::string why) {
  return Failure{ExitCode::temporary, "the bytes received are not a frame: " + std::move(why)};
}

Expected<Frame> decode_body(std::uint8_t kind, std::string_view body) {
  if (kind == 0 || kind > std::variant_size_v<Frame>)
    return garbage("there is no kind " + std::to_string(kind));
  return boost::mp11::mp_with_index<std::variant_size_v<Frame>>(
      static_cast<std::size_t>(kind - 1), [&](auto index) -> Expected<Frame> {
        auto value = decode<std::variant_alternative_t<index, Frame>>(body, {.bytes = frame_limit});
        if (!value) return garbage(value.error().what);
        return Frame(std::in_place_index<index>, *std::move(value));
      });
}

}  // namespace

void append_frame(std::string& out, const Frame& frame, std::uint8_t version) {
  const std::size_t at = begin_frame(out, version, static_cast<std::uint8_t>(frame.index() + 1));
  const auto* carried = std::get_if<Carried>(&frame);
  if (carried && version < since(carried->letter))
    encode_to(out, as_before(*carried));
  else
    std::visit([&](const auto& body) { encode_to(out, body); }, frame);
  end_frame(out, at);
}

std::string encode_frame(const Frame& frame, std::uint8_t version) {
  std::string out;
  out.reserve(128);
  append_frame(out, frame, version);
  return out;
}

FrameReader::FrameReader(std::size_t most_at_first, WireVersions spoken)
    : buffer_(first_room),
      most_(std::min(most_at_first, frame_limit)),
      spoken_(spoken),
      taken_(spoken) {}

std::span<char> FrameReader::room() {
  if (begin_ == end_) begin_ = end_ = 0;
  if (end_ == buffer_.size() && begin_ > 0) {
    std::memmove(buffer_.data(), buffer_.data() + begin_, end_ - begin_);
    end_ -= begin_;
    begin_ = 0;
  }
  // `next` has already checked the length of a frame that fills the buffer, so the frame fits.
  if (end_ == buffer_.size()) buffer_.resize(std::min(2 * buffer_.size(), most_room));
  return std::span(buffer_).subspan(end_);
}

void FrameReader::filled(std::size_t bytes) {
  end_ += bytes;
}

Expected<std::optional<Frame>> FrameReader::next() {
  const std::string_view stream(buffer_.data() + begin_, end_ - begin_);
  if (stream.size() < length_bytes) return std::optional<Frame>();
  const std::size_t length = take(stream.data());
  if (length > most_)
    return garbage(std::to_string(length) + " bytes, the limit is " + std::to_string(most_));
  if (length < header_bytes - length_bytes)
    return garbage(std::to_string(length) + " bytes are less than a header");
  if (stream.size() < length_bytes + length) return std::optional<Frame>();
  last_size_ = length_bytes + length;
  begin_ += last_size_;

  const std::string_view checked = stream.substr(version_at, length + length_bytes - version_at);
  if (checksum(checked) != take(stream.data() + checksum_at)) return garbage("wrong checksum");
  const auto version = static_cast<std::uint8_t>(stream[version_at]);
  const auto kind = static_cast<std::uint8_t>(stream[kind_at]);
  const bool known = is_greeting(kind) ? version == host::wire_of_greetings
                                       : version >= taken_.oldest && version <= taken_.newest;
  if (!known) return garbage("wire version " + std::to_string(version));
  auto frame = decode_body(kind, checked.substr(2));
  if (!frame) return frame.error();
  if (const auto* carried = std::get_if<Carried>(&*frame);
      carried && version < since(carried->letter))
    return garbage("a letter that wire version " + std::to_string(version) + " does not have");
  most_ = frame_limit;
  if (const auto* hello = std::get_if<Hello>(&*frame))
    if (const auto common = common_wire(spoken_, wire_of(*hello))) taken_ = {*common, *common};
  return std::optional<Frame>(*std::move(frame));
}

}  // namespace muster::net
