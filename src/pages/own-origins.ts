// Under which names people reach the pages: to a browser each is an origin of its own, with cookies of its own.

/** Returns the origin among ours that a request with this Host was sent to; the first, and that it is none of ours, where there is no such. */
export function originOf(
  host: string | undefined,
  [first, ...others]: readonly string[],
): { readonly origin: string; readonly isOurs: boolean } {
  const found = [first!, ...others].find(origin => new URL(origin).host === host)
  return { origin: found ?? first!, isOurs: found !== undefined }
}
