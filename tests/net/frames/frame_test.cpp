#include "net/frames/golden.hpp"

#include <muster/values/archive.hpp>

#include <boost/test/unit_test.hpp>

#include <set>

namespace muster::net {
namespace {

using test::bytes_of;
using test::feed;
using test::Golden;
using test::golden_frames;
using test::golden_frames_of_3;
using test::repaired;

// The result of reading a stream.
struct Taken {
  std::vector<Frame> frames;
  std::string failure;
  bool partial = false;
};

Taken take(std::string_view stream) {
  Taken taken;
  FrameReader reader;
  if (const auto fed = feed(reader, stream, taken.frames); !fed) taken.failure = fed.error().what;
  taken.partial = reader.partial();
  return taken;
}

std::string frame_of_length(std::size_t length) {
  std::string bytes = encode_frame(StatusAnswer{std::string(length - 10, 'x')});
  BOOST_REQUIRE(bytes.size() == length + 4);
  return bytes;
}

std::vector<Golden> all_golden_frames() {
  std::vector<Golden> all = golden_frames();
  const std::vector<Golden> later = golden_frames_of_3();
  all.insert(all.end(), later.begin(), later.end());
  return all;
}

BOOST_AUTO_TEST_SUITE(golden)

BOOST_AUTO_TEST_CASE(frames_are_written_as_they_always_were) {
  for (const auto& [name, frame, bytes] : golden_frames())
    BOOST_TEST((encode_frame(frame, 2) == bytes), name);
  for (const auto& [name, frame, bytes] : golden_frames_of_3())
    BOOST_TEST((encode_frame(frame, 3) == bytes), name);
}

BOOST_AUTO_TEST_CASE(frames_are_read_as_they_always_were) {
  for (const auto& [name, frame, bytes] : all_golden_frames()) {
    const Taken taken = take(bytes);
    BOOST_TEST(taken.failure == "", name << ": " << taken.failure);
    BOOST_TEST_REQUIRE(taken.frames.size() == 1u, name);
    BOOST_TEST(taken.frames.front() == frame);
    BOOST_TEST(!taken.partial);
  }
}

BOOST_AUTO_TEST_CASE(have_the_size_that_is_found_before_they_are_encoded) {
  for (const auto& [name, frame, bytes] : all_golden_frames())
    std::visit(
        [&](const auto& body) { BOOST_TEST(size_of_encoded(body) == encode(body).size(), name); },
        frame);
}

// Each new kind of frame, message or answer needs a golden frame.
BOOST_AUTO_TEST_CASE(frames_are_there_for_every_kind) {
  std::set<std::size_t> kinds, messages, results;
  for (const Golden& each : all_golden_frames()) {
    kinds.insert(each.frame.index());
    const auto* carried = std::get_if<Carried>(&each.frame);
    if (!carried) continue;
    messages.insert(carried->letter.message.index());
    if (const auto* answer = std::get_if<Answer>(&carried->letter.message))
      results.insert(answer->result.index());
  }
  BOOST_TEST(kinds.size() == std::variant_size_v<Frame>);
  BOOST_TEST(messages.size() == std::variant_size_v<Message>);
  BOOST_TEST(results.size() == std::variant_size_v<Result>);
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(streams)

BOOST_AUTO_TEST_CASE(can_be_cut_anywhere) {
  std::string stream;
  std::vector<Frame> expected;
  for (const auto& [name, frame, bytes] : golden_frames()) {
    stream += bytes;
    expected.push_back(frame);
  }
  for (std::size_t cut = 0; cut <= stream.size(); ++cut) {
    FrameReader reader;
    std::vector<Frame> frames;
    BOOST_REQUIRE(feed(reader, std::string_view(stream).substr(0, cut), frames).has_value());
    BOOST_REQUIRE(feed(reader, std::string_view(stream).substr(cut), frames).has_value());
    BOOST_TEST((frames == expected), "cut at " << cut);
    BOOST_TEST(!reader.partial());
  }
}

BOOST_AUTO_TEST_CASE(can_come_byte_by_byte) {
  FrameReader reader;
  for (const auto& [name, frame, bytes] : golden_frames()) {
    std::vector<Frame> frames;
    for (std::size_t i = 0; i < bytes.size(); ++i) {
      BOOST_TEST(frames.empty());
      BOOST_TEST(reader.partial() == (i > 0));
      BOOST_REQUIRE(feed(reader, std::string_view(bytes).substr(i, 1), frames).has_value());
    }
    BOOST_TEST_REQUIRE(frames.size() == 1u);
    BOOST_TEST(frames.front() == frame);
  }
}

BOOST_AUTO_TEST_CASE(can_hold_large_frames_one_after_the_other) {
  const Frame large = StatusAnswer{std::string(frame_limit - 10, 'x')};
  std::string stream;
  for (int i = 0; i < 5; ++i) stream += encode_frame(large) + encode_frame(Acknowledged{7});
  for (std::size_t size : {1000u, 4096u, 65535u, 200000u}) {
    FrameReader reader;
    std::vector<Frame> frames;
    for (std::size_t at = 0; at < stream.size(); at += size) {
      BOOST_REQUIRE(feed(reader, std::string_view(stream).substr(at, size), frames).has_value());
      BOOST_TEST(reader.room().size() <= frame_limit + 4);
    }
    BOOST_TEST(frames.size() == 10u);
    BOOST_TEST(frames[8] == large);
  }
}

BOOST_AUTO_TEST_CASE(that_end_within_a_frame_give_nothing_of_it) {
  for (const auto& [name, frame, bytes] : golden_frames()) {
    for (std::size_t size = 1; size < bytes.size(); ++size) {
      const Taken taken = take(std::string_view(bytes).substr(0, size));
      BOOST_TEST(taken.frames.empty());
      BOOST_TEST(taken.failure == "");
      BOOST_TEST(taken.partial);
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(accidents)

// A CRC-32 detects every change that lies within 32 bits. If a change makes the length larger, the
// reader waits for bytes that never come.
BOOST_AUTO_TEST_CASE(in_one_byte_are_always_seen) {
  for (const auto& [name, frame, bytes] : golden_frames()) {
    for (std::size_t at = 0; at < bytes.size(); ++at) {
      for (int change = 1; change < 256; ++change) {
        std::string changed = bytes;
        changed[at] = static_cast<char>(changed[at] ^ change);
        const Taken taken = take(changed);
        BOOST_TEST(taken.frames.empty(), name << ", byte " << at << ", change " << change);
        BOOST_TEST((taken.partial || !taken.failure.empty()));
      }
    }
  }
}

// A changed frame with a corrected checksum is either invalid or another valid frame. Encoding that
// other frame gives the changed bytes.
BOOST_AUTO_TEST_CASE(made_on_purpose_are_other_frames_or_none) {
  for (const auto& [name, frame, bytes] : golden_frames()) {
    for (std::size_t at = 8; at < bytes.size(); ++at) {
      for (int change = 1; change < 256; change += change < 9 ? 1 : 13) {
        std::string changed = bytes;
        changed[at] = static_cast<char>(changed[at] ^ change);
        changed = repaired(changed);
        const Taken taken = take(changed);
        BOOST_TEST(taken.frames.size() + !taken.failure.empty() == 1u);
        if (!taken.frames.empty())
          BOOST_TEST((encode_frame(taken.frames.front(), static_cast<std::uint8_t>(changed[8])) ==
                      changed),
                     name << ", byte " << at);
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(of_size_are_refused) {
  for (const auto& [name, frame, bytes] : golden_frames()) {
    for (std::size_t size = 10; size < bytes.size(); ++size) {
      const Taken taken = take(repaired(bytes.substr(0, size)));
      BOOST_TEST(taken.frames.empty(), name << " of " << size << " bytes");
      BOOST_TEST(!taken.failure.empty());
    }
    const Taken taken = take(repaired(bytes + '\0'));
    BOOST_TEST(taken.frames.empty(), name << " and a byte more");
    BOOST_TEST(taken.failure.ends_with("surplus bytes at the end"), taken.failure);
  }
}

BOOST_AUTO_TEST_CASE(of_version_and_kind_are_refused) {
  for (const char* head : {"01 04", "04 04", "ff 04", "02 00", "02 07", "02 ff"}) {
    const Taken taken = take(repaired(
        bytes_of("00 00 00 00 00 00 00 00 " + std::string(head) + " 01 00 00 00 00 00 00 00")));
    BOOST_TEST(taken.frames.empty(), head);
    BOOST_TEST(!taken.failure.empty(), head);
  }
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(versions)

constexpr WireVersions both{2, 3};

Hello hello_of(WireVersions wire) {
  Hello hello;
  hello.oldest_version = wire.oldest;
  hello.newest_version = wire.newest;
  return hello;
}

bool is_greeting(const Frame& frame) {
  return std::holds_alternative<Hello>(frame) || std::holds_alternative<Refusal>(frame);
}

BOOST_AUTO_TEST_CASE(are_those_of_all_but_greetings_which_are_written_as_ever) {
  for (const auto& [name, frame, bytes] : golden_frames()) {
    std::string next = bytes;
    if (!is_greeting(frame)) next[8] = 3;
    BOOST_TEST((encode_frame(frame, 3) == repaired(next)), name);
  }
}

// In version 2 the question to a coordinator cannot name a group, and its answer can only be Yes.
BOOST_AUTO_TEST_CASE(before_3_have_no_question_about_a_group) {
  const auto spoken = [](Message message, std::uint8_t version) {
    const Letter letter{NodeId{1}, Incarnation{2}, NodeId{3}, CallNumber{4}, std::move(message)};
    const Taken taken = take(encode_frame(Carried{1, 0, letter}, version));
    BOOST_TEST_REQUIRE(taken.frames.size() == 1U);
    return std::get<Carried>(taken.frames.front()).letter.message;
  };
  const Message question = in_group::AreYouThere{{17, NodeId{3}}};
  const Message no = Answer{Elsewhere{GroupNumber{18, NodeId{5}}}};
  BOOST_TEST(spoken(question, 3) == question);
  BOOST_TEST(spoken(no, 3) == no);
  BOOST_TEST(spoken(question, 2) == Message(AreYouThere{}));
  BOOST_TEST(spoken(no, 2) == Message(Answer{Here{}}));
}

// Frames of version 2 with a letter of version 3 inside. This release never sends such frames.
BOOST_AUTO_TEST_CASE(refuse_letters_of_a_later_one) {
  for (const auto& [name, frame, bytes] : golden_frames_of_3()) {
    std::string as_2 = bytes;
    as_2[8] = 2;
    BOOST_TEST(
        take(repaired(as_2)).failure.find("wire version 2 does not have") != std::string::npos,
        name);
  }
}

BOOST_AUTO_TEST_CASE(are_the_newest_of_both_once_a_hello_has_come) {
  struct Heard {
    std::optional<WireVersions> hello;  // no value: nothing yet
    std::uint8_t spoken;
    std::vector<std::uint8_t> taken;
  };
  for (const auto& [hello, spoken, taken] :
       {Heard{{}, 3, {2, 3}}, Heard{WireVersions{2, 2}, 2, {2}}, Heard{both, 3, {3}},
        Heard{WireVersions{1, 9}, 3, {3}}, Heard{WireVersions{4, 9}, 3, {2, 3}}}) {
    for (std::uint8_t version = 1; version < 5; ++version) {
      FrameReader reader(frame_limit, both);
      std::vector<Frame> frames;
      if (hello) feed(reader, encode_frame(hello_of(*hello)), frames).value();
      BOOST_TEST(reader.version() == spoken);
      const bool is_taken = std::count(taken.begin(), taken.end(), version) > 0;
      const auto fed = feed(reader, encode_frame(Acknowledged{7}, version), frames);
      BOOST_TEST(fed.has_value() == is_taken, int(version));
    }
  }
}

// Hello and Refusal can be read in every version, so a peer's identity and its reason to refuse can
// always be read.
BOOST_AUTO_TEST_CASE(that_do_not_meet_leave_the_greetings) {
  for (const auto& [name, frame, bytes] : golden_frames()) {
    FrameReader reader(frame_limit, {7, 9});
    std::vector<Frame> frames;
    BOOST_TEST(feed(reader, bytes, frames).has_value() == is_greeting(frame), name);
    std::string next = bytes;
    next[8] = 4;
    FrameReader today;
    BOOST_TEST(!feed(today, repaired(next), frames).has_value(), name);
  }
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(limits)

BOOST_AUTO_TEST_CASE(are_checked_before_more_is_read) {
  for (const char* length : {"01 00 01 00", "ff ff ff ff", "00 00 00 00", "05 00 00 00"}) {
    const Taken taken = take(bytes_of(length));
    BOOST_TEST(!taken.failure.empty(), length);
  }
}

BOOST_AUTO_TEST_CASE(let_the_largest_frame_pass) {
  BOOST_TEST(take(frame_of_length(frame_limit)).frames.size() == 1u);
  BOOST_TEST(!take(frame_of_length(frame_limit + 1)).failure.empty());
}

BOOST_AUTO_TEST_CASE(of_letters_are_what_fits_says) {
  const Letter empty{NodeId{5}, Incarnation{3}, NodeId{2}, CallNumber{1}, Answer{Refused{}}};
  Letter letter = empty;
  const auto frame_of = [&letter](std::size_t letter_bytes, std::size_t without) {
    std::get<Refused>(std::get<Answer>(letter.message).result)
        .why.assign(letter_bytes - without, 'x');
    return encode_frame(Carried{1, 2, letter});
  };
  const std::size_t without = encode(empty).size();
  const std::size_t most = frame_limit - 22;
  BOOST_TEST(fits(most));
  BOOST_TEST(!fits(most + 1));
  BOOST_TEST(take(frame_of(most, without)).frames.size() == 1u);
  BOOST_TEST(!take(frame_of(most + 1, without)).failure.empty());
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace muster::net
