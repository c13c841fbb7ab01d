// Describes the User-Agent of a session to its owner.

/** Tokens by precedence: many browsers claim to be others too. */
const browsers: readonly [token: RegExp, name: string][] = [
  [/\bEdg(?:e|A|iOS)?\//, 'Edge'],
  [/\bOPR\//, 'Opera'],
  [/\bSamsungBrowser\//, 'Samsung Internet'],
  [/\bFirefox\/|\bFxiOS\//, 'Firefox'],
  [/\bChrom(?:e|ium)\/|\bCriOS\/|\bHeadlessChrome\//, 'Chrome'],
  [/\bSafari\//, 'Safari'],
]

const systems: readonly [token: RegExp, name: string][] = [
  [/\b(?:iPhone|iPad|iPod)\b/, 'iOS'],
  [/\bAndroid\b/, 'Android'],
  [/\bCrOS\b/, 'ChromeOS'],
  [/\bWindows\b/, 'Windows'],
  [/\bMac OS X\b|\bMacintosh\b/, 'macOS'],
  [/\bLinux\b/, 'Linux'],
]

const longestName = 40

export function describeUserAgent(text: string | null): string {
  const browser = nameIn(browsers, text ?? '')
  const system = nameIn(systems, text ?? '')
  if (browser !== null) return system === null ? browser : `${browser} on ${system}`
  return /^[\w.+-]+(?:\/[\w.+-]+)?/.exec(text ?? '')?.[0].slice(0, longestName) ?? 'Unknown browser'
}

function nameIn(list: typeof browsers, text: string): string | null {
  return list.find(([token]) => token.test(text))?.[1] ?? null
}
