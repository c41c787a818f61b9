import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * Named figures of a run, in order; as a program, the table of several runs: arguments name=file.
 */
public final class Figures {
  private final Map<String, String> figures = new LinkedHashMap<>();

  void put(String name, long value) {
    figures.put(name, Long.toString(value));
  }

  void put(String name, double value) {
    String format = value >= 100 ? "%.0f" : value >= 10 ? "%.1f" : "%.2f";
    figures.put(name, String.format(format, value));
  }

  void write(Path file) throws IOException {
    List<String> lines = new ArrayList<>();
    figures.forEach((name, value) -> lines.add(name + "\t" + value));
    Files.createDirectories(file.toAbsolutePath().getParent());
    Files.write(file, lines);
  }

  public static void main(String[] arguments) throws IOException {
    List<String> columns = new ArrayList<>();
    List<Map<String, String>> runs = new ArrayList<>();
    Set<String> rows = new LinkedHashSet<>();
    for (String argument : arguments) {
      int middle = argument.indexOf('=');
      columns.add(argument.substring(0, middle));
      Map<String, String> run = new LinkedHashMap<>();
      for (String line : Files.readAllLines(Path.of(argument.substring(middle + 1)))) {
        String[] parts = line.split("\t");
        run.put(parts[0], parts[1]);
      }
      rows.addAll(run.keySet());
      runs.add(run);
    }
    System.out.println("| | " + String.join(" | ", columns) + " |");
    String alignments = "|---:".repeat(columns.size());
    System.out.println("|---" + alignments + "|");
    for (String row : rows) {
      List<String> cells = new ArrayList<>();
      for (Map<String, String> run : runs) cells.add(run.getOrDefault(row, ""));
      System.out.println("| " + row + " | " + String.join(" | ", cells) + " |");
    }
  }
}
