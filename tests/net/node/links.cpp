#include "links.hpp"

#include <boost/asio/post.hpp>
#include <boost/asio/use_future.hpp>
#include <boost/asio/write.hpp>

#include <array>

namespace muster::test {

namespace asio = boost::asio;

/// The socket that one node dials to reach one other node.
struct Links::End {
  End(asio::io_context& context, const Pair& of, Tcp::endpoint leads_to)
      : pair(of),
        to(std::move(leads_to)),
        acceptor(context, {asio::ip::address_v4::loopback(), 0}),
        port(acceptor.local_endpoint().port()) {}

  Pair pair;
  Tcp::endpoint to;
  Tcp::acceptor acceptor;
  unsigned short port;  ///< kept after the end is closed
};

/// One connection: the sockets of the dialler and of the acceptor.
struct Links::Line : std::enable_shared_from_this<Line> {
  Line(const Links& all, const End& end, Tcp::socket accepted)
      : links(all),
        pair(end.pair),
        to(end.to),
        sockets{Tcp::socket(accepted.get_executor()), Tcp::socket(accepted.get_executor())} {
    sockets[0] = std::move(accepted);
  }

  /// Passes the bytes that have waited for the end of the cut.
  void go_on() {
    if (links.is_cut(pair)) return;
    if (std::exchange(to_connect, false)) return connect();
    for (std::size_t from : {0U, 1U})
      if (held[from] > 0) passed(from, std::exchange(held[from], 0));
  }
  void connect() {
    sockets[1].async_connect(to, [self = shared_from_this()](boost::system::error_code error) {
      if (error) return self->end();
      for (Tcp::socket& socket : self->sockets) socket.set_option(Tcp::no_delay(true), error);
      self->read(0);
      self->read(1);
    });
  }
  void read(std::size_t from) {
    sockets[from].async_read_some(
        asio::buffer(buffers[from]),
        [self = shared_from_this(), from](boost::system::error_code error, std::size_t size) {
          if (error) return self->end();
          if (self->links.is_cut(self->pair))
            self->held[from] = size;
          else
            self->passed(from, size);
        });
  }
  void passed(std::size_t from, std::size_t size) {
    boost::system::error_code error;
    asio::write(sockets[1 - from], asio::buffer(buffers[from], size), error);
    if (error) return end();
    read(from);
  }
  void end() {
    for (Tcp::socket& socket : sockets) {
      boost::system::error_code ignored;
      socket.close(ignored);
    }
  }

  const Links& links;
  Pair pair;
  Tcp::endpoint to;
  std::array<Tcp::socket, 2> sockets;
  std::array<std::array<char, 4096>, 2> buffers{};
  std::array<std::size_t, 2> held{};  ///< bytes that the line passes on after the cut
  bool to_connect = true;
};

Links::Links() = default;

Links::~Links() {
  running_.halt();
  ends_.clear();  // these use the context, so they are destroyed before it
}

void Links::lead(net::NodeOptions& options) {
  const NodeId self = options.config.self;
  for (auto& [node, address] : options.network.addresses) {
    if (node == self) continue;
    auto& end = ends_[{self, node}];
    if (!end) {
      const auto port = std::stoul(address.substr(address.rfind(':') + 1));
      end = std::make_unique<End>(
          running_.context, Pair{self, node},
          Tcp::endpoint{asio::ip::address_v4::loopback(), static_cast<unsigned short>(port)});
      asio::post(running_.context, [this, at = end.get()] { accept(*at); });
    }
    address = "127.0.0.1:" + std::to_string(end->port);
  }
}

void Links::accept(End& end) {
  end.acceptor.async_accept([this, &end](boost::system::error_code error, Tcp::socket socket) {
    if (error) return;
    accept(end);
    const auto line = std::make_shared<Line>(*this, end, std::move(socket));
    lines_.push_back(line);
    line->go_on();
  });
}

void Links::on_thread(const std::function<void()>& change) {
  const auto changed = [&] {
    change();
    std::erase_if(lines_, [](const auto& line) { return line.expired(); });
    const auto lines = lines_;
    for (const auto& weak : lines)
      if (const auto line = weak.lock()) line->go_on();
  };
  asio::post(running_.context, asio::use_future(changed)).wait();
}

void Links::cut(NodeId node) {
  on_thread([&] { cut_.insert(node); });
}

void Links::heal(NodeId node) {
  on_thread([&] { cut_.erase(node); });
}

void Links::cut(NodeId one, NodeId other) {
  on_thread([&] { cut_pairs_.insert({{one, other}, {other, one}}); });
}

void Links::refuse(NodeId one, NodeId other) {
  on_thread([&] {
    for (const Pair& pair : {Pair{one, other}, Pair{other, one}}) {
      ends_.at(pair)->acceptor.close();
      for (const auto& weak : lines_)
        if (const auto line = weak.lock(); line && line->pair == pair) line->end();
    }
  });
}

}  // namespace muster::test
