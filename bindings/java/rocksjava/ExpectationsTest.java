import java.io.IOException;
import java.util.List;
import java.util.Set;

/** The judge of RocksJava's tests, on lists that are true and on lists that are not. */
public final class ExpectationsTest {
  private static Expectations.Outcome outcome(String event, String type, String method) {
    return new Expectations.Outcome(event, type, type + "." + method, "why");
  }

  private static final List<Expectations.Outcome> OUTCOMES =
      List.of(outcome("passed", "ATest", "good"), outcome("failed", "ATest", "bad"),
          outcome("ignored", "ATest", "off"), outcome("failed", "util.BTest", "one[0]"),
          outcome("failed", "util.BTest", "two"));

  private static void equal(Object wanted, Object got) {
    if (!wanted.equals(got)) throw new AssertionError("wanted " + wanted + ", got " + got);
  }

  private static List<String> differences(String... lines) throws IOException {
    return Expectations.of(List.of(lines)).differences(OUTCOMES);
  }

  private static void refuses(String... lines) {
    try {
      Expectations.of(List.of(lines));
    } catch (IOException e) {
      return;
    }
    throw new AssertionError("a bad list is read");
  }

  public static void main(String[] arguments) throws IOException {
    String listedA = "ATest.bad  a reason";
    String listedB = "util.BTest another reason";
    equal(List.of(), differences("# text", "", listedA, listedB));
    equal(List.of("fails, and is not listed: ATest.bad: why"), differences(listedB));
    equal(List.of("passes, but is listed: ATest.good"), differences("ATest a reason", listedB));
    String unused = "is listed, but no test that ran has this name: ";
    equal(List.of(unused + "ATest.off"), differences(listedA, listedB, "ATest.off reason"));
    equal(List.of(unused + "CTest"), differences(listedA, listedB, "CTest reason"));
    equal(List.of("fails, and is not listed: util.BTest.two: why"),
        differences(listedA, "util.BTest.one[0] reason"));
    equal(List.of(),
        differences(listedA, "util.BTest.one first reason", "util.BTest.two second reason"));
    Expectations both = Expectations.of(List.of(listedA, listedB));
    equal(2, both.reasons(OUTCOMES).get("another reason"));
    equal(List.of(), both.only(Set.of("ATest")).differences(OUTCOMES.subList(0, 3)));
    equal(List.of("fails for another reason than the listed one: ATest.bad: why"),
        differences("ATest.bad not in Ashlar: x", listedB));
    equal(List.of(),
        Expectations.of(List.of("ATest not in Ashlar: x"))
            .differences(List.of(
                new Expectations.Outcome("failed", "ATest", "ATest.bad", "x: not in Ashlar"))));
    List<Expectations.Outcome> hanging = List.of(outcome("left out", "ATest", "hangs"));
    Expectations without = Expectations.of(List.of("!ATest.hangs never returns"));
    equal(Set.of("ATest.hangs"), without.leftOut());
    equal(List.of(), without.differences(hanging));
    equal(1, without.reasons(hanging).get("never returns"));
    equal(Set.of(), both.leftOut());
    refuses("ATest");
    refuses(listedA, "ATest.bad again");
  }
}
