// What every response made here tells browsers for safety.

/** Name, value, name, value …; against guessed types, foreign frames and leaked addresses. */
export const safetyHeaders: readonly string[] = [
  'X-Content-Type-Options',
  'nosniff',
  'X-Frame-Options',
  'SAMEORIGIN',
  'Referrer-Policy',
  'same-origin',
]
