// Schemas of access rules, in requests and in responses.

import { accessActions, conditionKinds, maxPathLength, maxValues } from './access-rule-body.ts'
import {
  about,
  closed,
  id,
  listOf,
  type Members,
  oneOf,
  open,
  type Schema,
  text,
  whole,
} from '../../schema/schema.ts'
import { expression, placed, ruleDescription, sameId } from './rule-schemas.ts'

const network: Schema = { ...text, pattern: '^[0-9A-Fa-f:.]+(?:/(?:0|[1-9][0-9]{0,2}))?$' }
const country: Schema = { ...text, pattern: '^[A-Za-z]{2}$' }
const agent: Schema = { ...text, maxLength: 256 }
const host: Schema = { ...text, minLength: 1, maxLength: 255 }
const path: Schema = { ...text, maxLength: maxPathLength, pattern: '^/[!-~]*$' }

const conditions: { readonly [K in (typeof conditionKinds)[number]]: Schema } = {
  ip: about('Addresses, and networks as in 192.0.2.0/24 or 2001:db8::/32.', some(network)),
  list: about('One of the `lists` of the configuration.', text),
  country: about('Countries (ISO 3166-1); they need `geo.databases` in the configuration.', some(country)),
  asn: about('Autonomous systems; they need `geo.databases` too.', some(whole(1, 2 ** 32 - 1))),
  user_agent: about('Case-insensitive; `*` matches any text, an empty string matches none.', some(agent)),
  referer: about('Hosts, and `*.` and a host, that Referer names.', some(host)),
  referer_not: about('A Referer of any other host; none at all does not match.', some(host)),
  path: about('Beginnings of paths, to a border of segments.', some(path)),
  expression: expression('`request` and `zone`'),
}

const action = about('`legal` denies for legal reasons.', oneOf(accessActions))

const oneCondition: Schema = {
  description: 'Exactly one condition: what is a list matches by any of its values.',
  oneOf: conditionKinds.map(kind => ({ required: [kind] })),
}

export const newAccessRule = rule(placed)

export const changedAccessRule = rule(sameId)

export const accessRule = { ...open({ id, action, ...ruleDescription }, conditions), ...oneCondition }

function rule(more: Members): Schema {
  return { ...closed({ action }, { ...conditions, ...ruleDescription, ...more }), ...oneCondition }
}

function some(value: Schema): Schema {
  return listOf(value, 1, maxValues)
}
