// The message for a user whose sign-in is rate-limited.

export function throttledMessage({
  outcome,
  retryAfter,
}: {
  readonly outcome: 'throttled' | 'busy'
  readonly retryAfter: number
}) {
  if (outcome === 'busy')
    return {
      trouble: 'Many people are signing in just now. Try again in a few seconds.',
      status: 503,
      retryAfter,
    }
  const minutes = Math.ceil(retryAfter / 60)
  const wait = minutes === 1 ? 'a minute' : `${minutes} minutes`
  return { trouble: `Too many attempts. Try again in ${wait}.`, status: 429, retryAfter }
}
