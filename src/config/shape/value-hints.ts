// Values as written for other gateways, and what to write in their place.

/** Patterns of texts, and the hint for each, which may insert groups of the pattern as $1. */
export type Hints = readonly (readonly [form: RegExp, hint: string])[]

export const hintsForHosts: Hints = [
  [/^\*$/, 'for all hosts that no zone names, set default: on in the zone'],
  [/^https?:\/\/([\w.-]+)\/?$/i, 'write $1'],
  [/^([\w.-]+)(?::\d+|\/)$/, 'write $1, for any port'],
  [/^\.([\w-][\w.-]*)$/, "write '*.$1' for all names below it"],
  [/^~|\.\*$|^\*\..*\*/, 'a * stands for whole labels at the beginning; there are no regular expressions'],
]

export const hintsForEndpoints: Hints = [
  [/^(?:\*?:)?(\d{1,5})$/, 'write 0.0.0.0:$1 for all addresses, or 127.0.0.1:$1 for this machine'],
  [/^(?:https?:\/\/)([\w.-]+:\d{1,5})\/?$/i, 'write $1'],
]

export const hintsForOrigins: Hints = [
  [/^([\w.-]+:\d{1,5})\/?$/, 'write http://$1'],
  [
    /^https?:\/\/[^/?#@\s]+\/[^?#\s]+$/i,
    'a route sends the path of the request, which its rewrite.path may change',
  ],
  [/^https?:\/\/[^/?#@\s]+\s+weight=/i, 'write { url: …, weight: … }'],
  [/^unix:/, 'sockets of Unix are not supported'],
  [/^h2c:\/\/([\w.-]+(?::\d{1,5})?)\/?$/i, 'write http://$1, and http: h2c in the pool'],
]

export const hintsForPaths: Hints = [
  [/^[~^=]/, 'a path is a prefix: there are no regular expressions'],
  [/^([\w-][\w/-]*)$/, 'write /$1'],
]

export const hintsForTruth: Hints = [
  [/^(?:yes|y|True|TRUE|On|ON|1|enabled?)$/, 'write true'],
  [/^(?:no|n|False|FALSE|Off|OFF|0|disabled?)$/, 'write false'],
]

export const hintsForDurations: Hints = [
  [/^(\d{1,9})$/, 'write $1s, or $1ms'],
  [/^(\d{1,9}) *(?:secs?|seconds?)$/i, 'write $1s'],
  [/^(\d{1,9}) *(?:mins?|minutes?)$/i, 'write $1m'],
  [/^\d{1,9}[dhms]\d{1,9}[hms]+|^\d+\.\d+[a-z]+$/, 'write one whole number in the smaller unit'],
]

export const hintsForSizes: Hints = [
  [/^(\d{1,9}) ?k(?:i?b)?$/i, 'write $1KiB'],
  [/^(\d{1,9}) ?m(?:i?b)?$/i, 'write $1MiB'],
  [/^(\d{1,9}) ?g(?:i?b)?$/i, 'write $1GiB'],
  [/^(\d{1,9})$/, 'write $1B'],
]

export const hintsForRates: Hints = [
  [/^(\d{1,15}) ?(?:r\/s|rps|per second)$/i, 'write $1/s'],
  [/^(\d{1,15}) ?(?:r\/m|rpm|per minute)$/i, 'write $1/min'],
]

/** Variables in the syntax of other tools; the name is not repeated, since it may be a secret. */
const otherReference =
  /^(?:\$[A-Za-z_]\w*|\$\([A-Za-z_]\w*\)|%[A-Za-z_]\w*%|os\.environ\/\w+|\{?\$?env[.:]\w+\}?|\{\$\w+\}|secrets?:\/\/.+)$/

/** Whether a text seems to refer to a variable in a syntax that is read as the value itself. */
export function refersOtherwise(text: string): boolean {
  return otherReference.test(text)
}

/** Returns the replacement for a text, as a phrase to append; empty if no hint applies. */
export function hintFor(text: string, hints: Hints): string {
  if (refersOtherwise(text)) return `; a variable is written as \${NAME}`
  const [form, hint] = hints.find(([form]) => form.test(text)) ?? []
  if (!form || !hint) return ''
  const groups = form.exec(text)!
  const written = groups.reduce((written, group, i) => written.replaceAll(`$${i}`, group ?? ''), hint)
  // A text in the right form has another mistake.
  return written === `write ${text}` ? '' : `; ${written}`
}
