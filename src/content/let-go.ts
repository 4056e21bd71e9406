/**
 * Gives memory back at once. Left to the garbage collector, which counts what lies outside its heap, large blocks make it run
 * all the time and the process grow. Nobody uses the bytes any more; those that are only a part of their memory stay.
 */
export function letGo({ buffer, byteLength }: Buffer): void {
  if (buffer instanceof ArrayBuffer && byteLength === buffer.byteLength) buffer.transfer(0)
}
