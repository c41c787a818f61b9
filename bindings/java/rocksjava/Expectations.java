import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/**
 * The tests that are known to fail, with reasons. A line has a name and the reason. The name is
 * that of a class, of a method with all its parameters, Class.method, or with one, Class.method[0].
 * The list is true: a test that fails fits a line, a test that fits a line fails, and each line
 * fits a test that ran. If the reason is "not in Ashlar: a feature", the failure has to say so,
 * too: another bug is not excused by it. A name after ! is that of a test that never returns or
 * depends on timing: it is left out, and must exist.
 */
final class Expectations {
  private static final String LEFT_OUT = "!";
  private static final String NO_FEATURE = "not in Ashlar: ";
  private static final Pattern NO_FEATURE_TEXT = Pattern.compile(
      "not in Ashlar|UnsupportedOperationException|NotSupported|is not implemented");

  private record Line(String name, String reason, boolean leftOut) {
    boolean fits(Outcome outcome) {
      return name.equals(outcome.test) || name.equals(outcome.type)
          || name.equals(outcome.test.replaceFirst("\\[\\d+\\]$", ""));
    }

    boolean excuses(Outcome outcome) {
      return !reason.startsWith(NO_FEATURE) || NO_FEATURE_TEXT.matcher(outcome.text).find();
    }

    boolean isOf(String type) {
      return name.equals(type) || name.startsWith(type + ".");
    }
  }

  /** Of one test of a class: passed, failed, ignored or left out. */
  record Outcome(String event, String type, String test, String text) {}

  private final List<Line> lines;

  private Expectations(List<Line> lines) {
    this.lines = lines;
  }

  static Expectations of(List<String> text) throws IOException {
    Map<String, Line> lines = new TreeMap<>();
    for (String line : text) {
      if (line.isBlank() || line.startsWith("#")) continue;
      String[] fields = line.trim().split("\\s+", 2);
      if (fields.length < 2) throw new IOException("expectations: no reason in '" + line + "'");
      boolean leftOut = fields[0].startsWith(LEFT_OUT);
      String name = leftOut ? fields[0].substring(LEFT_OUT.length()) : fields[0];
      if (lines.put(name, new Line(name, fields[1], leftOut)) != null) {
        throw new IOException("expectations: " + name + " is there twice");
      }
    }
    return new Expectations(new ArrayList<>(lines.values()));
  }

  static Expectations read(Path file) throws IOException {
    return of(Files.readAllLines(file));
  }

  /** The lines of these classes and their tests. */
  Expectations only(Set<String> types) {
    return new Expectations(
        lines.stream().filter(line -> types.stream().anyMatch(line::isOf)).toList());
  }

  /** The tests that are not to be run. */
  Set<String> leftOut() {
    return lines.stream().filter(Line::leftOut).map(Line::name).collect(Collectors.toSet());
  }

  /** The differences between the list and all outcomes; none if the list is true. */
  List<String> differences(Collection<Outcome> outcomes) {
    List<String> differences = new ArrayList<>();
    for (Outcome outcome : outcomes) {
      boolean listed = lines.stream().anyMatch(line -> line.fits(outcome));
      if (outcome.event.equals("failed") && !listed) {
        differences.add("fails, and is not listed: " + outcome.test + ": " + outcome.text);
      } else if (outcome.event.equals("passed") && listed) {
        differences.add("passes, but is listed: " + outcome.test);
      } else if (outcome.event.equals("failed")
          && lines.stream().noneMatch(line -> line.fits(outcome) && line.excuses(outcome))) {
        differences.add(
            "fails for another reason than the listed one: " + outcome.test + ": " + outcome.text);
      }
    }
    for (Line line : lines) {
      // If a test is left out, its outcome says so.
      if (outcomes.stream().noneMatch(o -> !o.event.equals("ignored") && line.fits(o))) {
        differences.add("is listed, but no test that ran has this name: " + line.name);
      }
    }
    return differences;
  }

  /** How many tests fail or are left out as listed, by reason. */
  Map<String, Integer> reasons(Collection<Outcome> outcomes) {
    Map<String, Integer> reasons = new TreeMap<>();
    for (Outcome outcome : outcomes) {
      if (!outcome.event.equals("failed") && !outcome.event.equals("left out")) continue;
      lines.stream()
          .filter(line -> line.fits(outcome))
          .findFirst()
          .ifPresent(line -> reasons.merge(line.reason, 1, Integer::sum));
    }
    return reasons;
  }
}
