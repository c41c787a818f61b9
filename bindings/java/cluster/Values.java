import java.nio.ByteBuffer;

/** Values of a fixed size that carry a number, from which all their bytes follow. */
final class Values {
  private final int size;

  Values(int size) {
    this.size = size;
  }

  byte[] encode(long number) {
    byte[] bytes = new byte[size];
    ByteBuffer.wrap(bytes).putLong(number);
    long state = number;
    for (int i = Long.BYTES; i < size; ++i) {
      // Half of the bytes repeat, so that compression has something to do.
      if ((i & 8) == 0) state = state * 6364136223846793005L + 1442695040888963407L;
      bytes[i] = (byte) (state >>> 56);
    }
    return bytes;
  }

  /** The number; 0 for null. IllegalStateException for bytes that encode does not make. */
  long decode(byte[] bytes) {
    if (bytes == null) return 0;
    long number = bytes.length == size ? ByteBuffer.wrap(bytes).getLong() : 0;
    if (!java.util.Arrays.equals(bytes, encode(number)))
      throw new IllegalStateException("a value of " + bytes.length + " bytes is damaged");
    return number;
  }

  /** Keys in an order that has nothing to do with their numbers. */
  static byte[] key(long number, char kind) {
    return String.format("%08x%c%06d", (int) (number * 0x9E3779B1L), kind, number)
        .getBytes(java.nio.charset.StandardCharsets.US_ASCII);
  }
}
