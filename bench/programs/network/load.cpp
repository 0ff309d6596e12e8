#include "model.hpp"

#include <exception>
#include <set>
#include <utility>

#include <boost/lexical_cast.hpp>
#include <boost/optional.hpp>
#include <nlohmann/json.hpp>

namespace network {

using nlohmann::json;

DescriptionError::DescriptionError(std::string path, const std::string &what)
    : std::runtime_error(path + ": " + what), path_(std::move(path)) {}

namespace {

// A Reader reads the members of an object and knows where it is.
class Reader {
public:
  Reader(const json &value, std::string path) : value_(value), path_(std::move(path)) {}

  template <class T> T get(const char *key) const {
    auto it = value_.find(key);
    if (it == value_.end())
      throw DescriptionError(path_, std::string("no member ") + key);
    try {
      return it->get<T>();
    } catch (const json::type_error &) {
      std::throw_with_nested(DescriptionError(path_ + "." + key, std::string("is a ") + it->type_name()));
    }
  }

  template <class T> boost::optional<T> optional(const char *key) const {
    if (!value_.contains(key))
      return boost::none;
    return get<T>(key);
  }

  template <class F> void each(const char *key, F f) const {
    auto it = value_.find(key);
    if (it == value_.end())
      throw DescriptionError(path_, std::string("no member ") + key);
    if (!it->is_array())
      throw DescriptionError(path_ + "." + key, std::string("is a ") + it->type_name() + ", not a list");
    std::size_t i = 0;
    for (const json &member : *it)
      f(Reader(member, path_ + "." + key + "[" + boost::lexical_cast<std::string>(i++) + "]"));
  }

  [[noreturn]] void fail(const std::string &what) const { throw DescriptionError(path_, what); }

private:
  const json &value_;
  std::string path_;
};

Station read_station(const Reader &r, std::set<int> &ids) {
  static const std::set<std::string> kinds = {"source", "junction", "consumer"};
  Station s;
  s.id = r.get<int>("id");
  s.name = r.get<std::string>("name");
  s.kind = r.get<std::string>("kind");
  auto at = r.get<std::vector<double>>("at");
  if (at.size() != 2)
    r.fail("a place has two coordinates");
  s.x = at[0];
  s.y = at[1];
  s.demand = r.optional<double>("demand").value_or(0);
  if (!kinds.count(s.kind))
    r.fail("unknown kind " + s.kind);
  if (!ids.insert(s.id).second)
    r.fail("station " + std::to_string(s.id) + " is there before");
  return s;
}

Line read_line(const Reader &r, const std::set<int> &ids) {
  Line line;
  line.from = r.get<int>("from");
  line.to = r.get<int>("to");
  line.length = r.get<double>("length");
  line.capacity = r.get<double>("capacity");
  line.tariff = r.get<std::string>("tariff");
  for (int end : {line.from, line.to})
    if (!ids.count(end))
      r.fail("no station " + std::to_string(end));
  if (!(line.length > 0))
    r.fail("a length is positive, not " + rounded(line.length));
  return line;
}

} // namespace

Network load(const std::string &text) {
  json d;
  try {
    d = json::parse(text);
  } catch (const json::parse_error &e) {
    std::throw_with_nested(DescriptionError("$", "not JSON near byte " + std::to_string(e.byte)));
  }
  Reader root(d, "$");
  Network n;
  n.name = root.get<std::string>("name");
  std::set<int> ids;
  root.each("stations", [&](const Reader &r) { n.stations.push_back(read_station(r, ids)); });
  root.each("lines", [&](const Reader &r) { n.lines.push_back(read_line(r, ids)); });
  return n;
}

} // namespace network
