#include "model.hpp"

#include <cstdio>

#include <boost/multiprecision/cpp_int.hpp>
#include <nlohmann/json.hpp>

namespace network {

std::string rounded(double v) {
  char text[32];
  std::snprintf(text, sizeof text, "%.6g", v);
  return text;
}

nlohmann::json report(const Findings &findings) {
  nlohmann::json r = nlohmann::json::object();
  for (auto &[name, v] : findings.numbers)
    r["numbers"][name] = rounded(v);
  for (auto &[name, v] : findings.texts)
    r["texts"][name] = v;
  return r;
}

std::string checksum(const std::string &text) {
  using boost::multiprecision::cpp_int;
  static const cpp_int modulus = (cpp_int(1) << 127) - 1;
  cpp_int sum = 1;
  for (unsigned char c : text)
    sum = (sum * 257 + c) % modulus;
  cpp_int power = boost::multiprecision::powm(sum, cpp_int(65537), modulus);
  return power.str(0, std::ios_base::hex);
}

} // namespace network
