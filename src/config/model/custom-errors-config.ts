// An operator's replacements for the default error documents.

export const errorContentTypes = [
  'application/json',
  'application/problem+json',
  'text/markdown',
  'text/html',
  'text/plain',
  'text/xml',
] as const
export type ErrorContentType = (typeof errorContentTypes)[number]

export const errorPageTypes = [
  '500_errors',
  '1000_errors',
  'ip_block',
  'country_challenge',
  'waf_block',
  'ratelimit_block',
] as const
export type ErrorPageType = (typeof errorPageTypes)[number]

export interface ErrorRule {
  /** CEL, with response and error besides the request. */
  readonly expression: string
  readonly content: string // at most 10 KiB
  readonly contentType: ErrorContentType
  /** 400 to 999; null keeps that of the error. */
  readonly status: number | null
  readonly description: string | null
  /** Line in the configuration file; absent for rules from elsewhere. */
  readonly line?: number
}

/** HTML by type, at most 1.5 MB each. */
export type ErrorPages = Readonly<Partial<Record<ErrorPageType, string>>>

/** The operator of the site, shown on the error page as far as set. */
export interface Operator {
  readonly name: string | null
  /** An absolute URL, whose host is a name or an IPv4 address. */
  readonly logo: string | null
  /** An e-mail address, a URL, or any other line. */
  readonly contact: string | null
}

/** Who may preview any error at a reserved path. */
export const previewAudiences = ['on', 'operators', 'off'] as const
export type PreviewAudience = (typeof previewAudiences)[number]

export interface CustomErrorsConfig {
  readonly rules: readonly ErrorRule[]
  readonly pages: ErrorPages
  readonly operator?: Operator | null
}

/** Bytes. */
export const maxRuleContent = 10 * 1024
export const maxErrorPage = 1_500_000
/** Maximum of tokens to fill in on a page: each costs time whenever the page is shown. */
export const maxPageTokens = 1_000

/** Whether a page exceeds that maximum. */
export function hasTooManyTokens(html: string): boolean {
  let count = 0
  for (const _ of html.matchAll(pageToken)) if (++count > maxPageTokens) return true
  return false
}

const pageToken = /::(?:CLIENT_IP|RAY_ID|GEO|SVC_ERROR_500S_BOX|SVC_ERROR_1000S_BOX)::/g
