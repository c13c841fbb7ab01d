// The settings of automatic certificates, by ACME (RFC 8555).

import { acmeChallenges } from '../model/config.ts'
import { acmeDirectory } from '../shape/host-rules.ts'
import { certificates, matching, oneOf, truth } from '../shape/rules.ts'
import { oneForm } from '../shape/value-schema.ts'
import { list, mapping, optional, placed, required, scalar, type Shape } from '../shape/shape.ts'

/** The directory of Let's Encrypt, whose certificates browsers trust. */
export const usualDirectory = 'https://acme-v02.api.letsencrypt.org/directory'

const emailAddress = matching(
  /^[^\s@,;<>()"\\]{1,64}@[^\s@,;<>()"\\]{1,189}$/,
  'must be an e-mail address such as ops@shop.example',
)
const keyId = matching(/^[!-~]{1,512}$/, 'must be up to 512 visible ASCII characters, without spaces')
const macKey = matching(/^[\w-]{16,1024}$/, 'must be the MAC key that the authority gave you, as base64url')

// Unprinted, since a key may have been written in place of a mapping.
const binding = mapping(
  {
    key_id: required(scalar(keyId, { unprinted: true })),
    mac_key: required(scalar(macKey, { unprinted: true })),
  },
  { unprinted: true },
)

export const auto = mapping({
  directory: optional(scalar(acmeDirectory), usualDirectory),
  email: optional(scalar(emailAddress), null),
  terms_agreed: optional(scalar(truth), false),
  challenges: optional(placed(list(scalar(oneOf(...acmeChallenges)), { min: 1 })), null), // null: all that the listeners allow
  zones: optional(scalar(oneOf('all', 'chosen')), 'all' as const),
  eab: optional(binding, null),
  ca: optional(scalar(certificates, { unprinted: true }), null), // null: the authorities that Node trusts
})

/** Reads the word auto as the mapping in which `auto` is empty. */
export function orAuto<T>(full: Shape<T>): Shape<T> {
  return {
    read(tree, context) {
      if (tree.kind !== 'scalar' || tree.text !== 'auto') return full.read(tree, context)
      const { line, column, path } = tree
      const empty = { kind: 'empty', line, column, path: `${path}.auto` } as const
      return full.read(
        { ...tree, kind: 'mapping', entries: new Map([['auto', { key: tree, value: empty }]]) },
        context,
      )
    },
    form: () => oneForm({ enum: ['auto'] }, full.form()),
    ...(full.write && { write: full.write }),
  }
}
