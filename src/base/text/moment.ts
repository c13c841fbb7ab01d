// Reads times (RFC 3339) as ms since the epoch.

/** A date and time, or if `allowsDay` a day (midnight UTC); null for anything else. */
export function parseMoment(text: string, { allowsDay = false } = {}): number | null {
  const [match, year, month, day, time] = moment.exec(text) ?? []
  if (match === undefined || (time === undefined && !allowsDay)) return null
  // Date.parse takes the 31st of February for the 3rd of March.
  if (new Date(Date.UTC(Number(year), Number(month) - 1, Number(day))).getUTCDate() !== Number(day))
    return null
  const parsed = Date.parse(text)
  return Number.isNaN(parsed) ? null : parsed
}

const moment =
  /^([0-9]{4})-([0-9]{2})-([0-9]{2})(T[0-9]{2}:[0-9]{2}:[0-9]{2}(?:\.[0-9]{1,9})?(?:Z|[+-][0-9]{2}:[0-9]{2}))?$/
