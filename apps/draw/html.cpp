#include "apps/draw/html.hpp"

#include "apps/draw/markup.hpp"
#include "apps/draw/svg.hpp"
#include "apps/draw/words.hpp"

#include <muster/values/json.hpp>

#include <algorithm>

namespace muster::apps::drawing {
namespace {

std::string violations_at(const Chart& chart, Index i) {
  std::string text;
  for (const Violation& violation : chart.violations)
    if (violation.at == i)
      text += (text.empty() ? "" : "; ") + violation.verdict.assertion +
              " is violated: " + violation.verdict.disagreement.why;
  return text;
}

const View* view_at(const Moment& moment) {
  static const View at_birth;
  if (const auto* step = std::get_if<journal::Step>(&moment.line)) return &step->view;
  const auto* header = std::get_if<journal::Header>(&moment.line);
  return header && !header->state ? &at_birth : nullptr;
}

void append_moment(std::string& json, const Layout& layout, Index i) {
  const Chart& chart = *layout.chart;
  const Moment& moment = chart.moments[i];
  json += "{\"t\":" + to_json(time_words(moment.t - chart.began));
  json += ",\"y\":" + std::to_string(layout.y[i]);
  json += ",\"node\":" + to_json(moment.node);
  json += ",\"words\":" + to_json(words(moment));
  json += ",\"over\":" + to_json(moment.over);
  if (const View* view = view_at(moment)) json += ",\"view\":" + to_json(*view);
  const std::string violation = violations_at(chart, i);
  if (!violation.empty()) json += ",\"violation\":" + to_json(violation);
  json += "},\n";
}

/// The data of each step for the page, as JSON. No text in it can end its <script> element.
std::string data_of(const Layout& layout) {
  const Chart& chart = *layout.chart;
  std::string json = "{\"width\":" + std::to_string(layout.width);
  json += ",\"nodes\":" + to_json(chart.nodes) + ",\"before\":{";
  for (const auto& [node, view] : chart.before)
    json += '"' + std::to_string(node.value) + "\":" + to_json(view) + ',';
  if (json.back() == ',') json.pop_back();
  json += "},\"moments\":[\n";
  for (Index i = 0; i < chart.moments.size(); ++i) append_moment(json, layout, i);
  json.resize(json.size() - 2);
  json += "]}";
  std::string safe;
  for (const char character : json)
    if (character == '<')
      safe += "\\u003c";
    else
      safe += character;
  return safe;
}

constexpr std::string_view table =
    "<aside aria-label=\"step and states\"><p id=\"words\" aria-live=\"polite\"></p>\n"
    "<div id=\"states\"><table><caption>S(i) after this step</caption><thead><tr>"
    "<th>i</th><th>s</th><th>c</th><th>h</th><th>d</th><th>g</th><th>Up</th><th>procedure</th>"
    "<th>application</th></tr></thead><tbody id=\"rows\"></tbody></table></div>\n"
    "<ol id=\"steps\" role=\"listbox\" tabindex=\"0\" aria-label=\"steps\"></ol></aside>\n";

}  // namespace

std::string html(const Chart& chart) {
  const Layout layout = lay_out(chart);
  std::string out =
      "<!DOCTYPE html>\n<html lang=\"en\">\n<meta charset=\"utf-8\">\n"
      "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
      "style-src 'unsafe-inline'; script-src 'unsafe-inline'\">\n"
      "<meta name=\"viewport\" content=\"width=device-width\">\n"
      "<title>Space-time diagram</title>\n<style>\n";
  out.append(svg_style()).append(page_style()).append("</style>\n").append(page_controls());
  out += "<main id=\"view\" tabindex=\"0\" aria-label=\"diagram\"><div id=\"scaled\">\n";
  append_svg_head(out, layout);
  append_svg_body(out, layout);
  append_svg_legend(out);
  out += "<div id=\"cursor\"></div></div></main>\n";
  out.append(table);
  out += "<script type=\"application/json\" id=\"data\">" + data_of(layout) + "</script>\n";
  out.append("<script>\n").append(page_script()).append("</script>\n</html>\n");
  return out;
}

}  // namespace muster::apps::drawing
