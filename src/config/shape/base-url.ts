// A rule for URLs to which paths are added.

import type { Reading } from '../../base/text/quantity.ts'
import { normalPath } from '../../base/path/path.ts'
import { httpScheme, originUrl, wrongPart } from './host-rules.ts'
import { formed, type Rule } from './shape.ts'

/** Accepts a URL that may have a path; returns it without a trailing slash. */
export function baseUrl(example: string): Rule<string> {
  const rule = `must be an http or https URL with only a host, port and path, such as ${example}`
  return formed(read, { pattern: httpScheme, rule })

  function read(text: string): Reading<string> {
    const [, authority = '', path = ''] = /^(https?:\/\/[^/?#]+)(\/[^?#]*)?$/i.exec(text) ?? []
    const origin = originUrl(authority)
    return 'flaw' in origin || pathFlaw(path) !== null
      ? { flaw: `${wrongPart(text, pathFlaw)}: it ${rule}` }
      : { value: `${origin.value.url}${path.replace(/\/$/, '')}` }
  }
}

function pathFlaw(path: string): string | null {
  const isGood = path === '' || (/^\/[!-~]*$/.test(path) && normalPath(path) === path)
  return isGood ? null : 'has a path that is not in normal form'
}
