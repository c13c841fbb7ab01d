// Security headers of every response made by the gateway.

/** Name, value, name, value …; against MIME sniffing, framing by other sites and leaked referrers. */
export const safetyHeaders: readonly string[] = [
  'X-Content-Type-Options',
  'nosniff',
  'X-Frame-Options',
  'SAMEORIGIN',
  'Referrer-Policy',
  'same-origin',
]
