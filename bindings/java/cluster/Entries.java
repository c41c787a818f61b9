import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;

/**
 * Entries that are written once and must be there at the end. Each call is repeated until it is
 * acknowledged.
 */
final class Entries {
  private static final int WINDOW = 64;

  private record Pending<T>(int number, CompletableFuture<T> future) {}

  private final RheaClient client;
  private final Values values;
  private final int first;
  private final int count;

  /** Those with the numbers from `first` on. */
  Entries(RheaClient client, Values values, int first, int count) {
    this.client = client;
    this.values = values;
    this.first = first;
    this.count = count;
  }

  private static byte[] key(int number) {
    return Values.key(number, 'd');
  }

  private byte[] value(int number) {
    return values.encode(-1 - number);
  }

  void load() throws InterruptedException {
    ArrayDeque<Pending<Boolean>> window = new ArrayDeque<>();
    for (int next = first; next < first + count || !window.isEmpty();) {
      if (next < first + count && window.size() < WINDOW) {
        window.add(put(next++));
        continue;
      }
      Pending<Boolean> oldest = window.remove();
      try {
        oldest.future.get();
      } catch (ExecutionException e) {
        client.findLeader(key(oldest.number));
        window.add(put(oldest.number));
      }
    }
  }

  private Pending<Boolean> put(int number) {
    return new Pending<>(
        number, RheaClient.call(() -> client.store().put(key(number), value(number))));
  }

  private CompletableFuture<byte[]> get(int number) {
    return RheaClient.call(() -> client.store().get(key(number)));
  }

  /** Those that are missing or have another value. */
  long countWrong() throws InterruptedException {
    long wrong = 0;
    for (int begin = first; begin < first + count; begin += WINDOW) {
      List<Pending<byte[]>> window = new ArrayList<>();
      for (int number = begin; number < Math.min(begin + WINDOW, first + count); ++number)
        window.add(new Pending<>(number, get(number)));
      for (Pending<byte[]> pending : window) {
        if (!Arrays.equals(await(pending), value(pending.number))) ++wrong;
      }
    }
    return wrong;
  }

  private byte[] await(Pending<byte[]> pending) throws InterruptedException {
    for (CompletableFuture<byte[]> future = pending.future;; future = get(pending.number)) {
      try {
        return future.get();
      } catch (ExecutionException e) {
        client.findLeader(key(pending.number));
      }
    }
  }
}
