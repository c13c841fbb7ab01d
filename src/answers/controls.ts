// For how long responses may be reused.

/** Seconds, up to 31 days. */
export const minTtl = 60
export const maxTtl = 31 * 86_400
