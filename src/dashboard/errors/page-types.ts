// The kinds of error pages, each with an error as an example.

export const pageTypes = [
  {
    type: '500_errors',
    title: 'Origin errors',
    text: '502, 504 and 520 to 526: the origin is down, late or broken.',
    sample: 502,
  },
  {
    type: '1000_errors',
    title: 'Errors from 1000 on',
    text: 'All of them that have no page of their own kind.',
    sample: 1000,
  },
  { type: 'ip_block', title: 'Address blocked', text: '1005 to 1008, 1012 and 1106 to 1108.', sample: 1006 },
  { type: 'country_challenge', title: 'Country blocked', text: '1009 and 1109.', sample: 1009 },
  { type: 'waf_block', title: 'Blocked by an access rule', text: '1010, 1011, 1020 and 1050.', sample: 1020 },
  { type: 'ratelimit_block', title: 'Too many requests', text: '1015, 1025 and 1027.', sample: 1015 },
] as const

export type PageType = (typeof pageTypes)[number]

/** Returns a kind by its name; null for an unknown one. */
export function pageTypeOf(type: string): PageType | null {
  return pageTypes.find(one => one.type === type) ?? null
}
