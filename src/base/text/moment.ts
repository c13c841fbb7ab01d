// Moments as text (RFC 3339) to ms since the epoch.

/** Reads a date and time, or where `allowsDay` a day alone, which begins at midnight UTC; null where it is none, or a day that no calendar has. */
export function parseMoment(text: string, { allowsDay = false } = {}): number | null {
  const [found, year, month, day, time] = moment.exec(text) ?? []
  if (found === undefined || (time === undefined && !allowsDay)) return null
  // Date.parse takes the 31st of February for the 3rd of March.
  if (new Date(Date.UTC(Number(year), Number(month) - 1, Number(day))).getUTCDate() !== Number(day))
    return null
  const parsed = Date.parse(text)
  return Number.isNaN(parsed) ? null : parsed
}

const moment =
  /^([0-9]{4})-([0-9]{2})-([0-9]{2})(T[0-9]{2}:[0-9]{2}:[0-9]{2}(?:\.[0-9]{1,9})?(?:Z|[+-][0-9]{2}:[0-9]{2}))?$/
