// Schemas of dynamic routes, in requests and in responses.

import {
  maxElements,
  maxModelRetries,
  maxModelTimeout,
  maxRate,
  maxRateWindow,
  maxShares,
} from '../../ai/failover/route-elements.ts'
import {
  about,
  closed,
  exactly,
  flag,
  id,
  listOf,
  named,
  number,
  oneOf,
  open,
  type Schema,
  text,
  time,
  whole,
} from '../schema/schema.ts'
import { namePattern } from './body.ts'

const elementId: Schema = { ...text, minLength: 1, maxLength: 64 }
const output = closed({ elementId: about('The id of the element to which it leads.', elementId) })
const outputs = (...names: readonly string[]) => closed(Object.fromEntries(names.map(name => [name, output])))
const element = (type: string, members: Readonly<Record<string, Schema>>) =>
  closed({ id: elementId, type: exactly(type), ...members })

const byModel = outputs('success', 'fallback')

export const routeElement: Schema = {
  anyOf: [
    element('start', { outputs: outputs('next') }),
    element('conditional', {
      properties: closed({
        conditions: about(
          'Facts (`metadata.NAME`, `token`, `app`, `person`) with a value or with `$eq`, `$ne`, `$gt`, `$gte`, `$lt`, `$lte`, `$in`, `$nin`, `$exists` and `$not`; and `$and`, `$or` and `$not` of such conditions.',
          { type: 'object', minProperties: 1 },
        ),
      }),
      outputs: outputs('true', 'false'),
    }),
    element('percentage', {
      outputs: about(
        'By percentage, such as `20%` or `20% canary`, and `else` for all other calls. They add up to 100.',
        {
          type: 'object',
          minProperties: 1,
          maxProperties: maxShares + 1,
          additionalProperties: output,
          propertyNames: { pattern: '^(?:else|[0-9]{1,3}(?:\\.[0-9]{1,2})?%(?: .{1,32})?)$' },
        },
      ),
    }),
    element('rate', {
      properties: closed({
        key: about('What is counted: `gateway`, `token`, `app`, `person` or `metadata.NAME`.', text),
        limit: about('How many calls, or US dollars, are within the rate, which leave by `success`.', {
          ...number,
          exclusiveMinimum: 0,
          maximum: maxRate,
        }),
        limitType: about('What is limited: calls, or what they cost.', oneOf(['count', 'cost'])),
        window: about('Seconds, from 60 for costs.', whole(1, maxRateWindow)),
      }),
      outputs: about('A `fallback` that leads to an end refuses the call (429).', byModel),
    }),
    element('model', {
      properties: closed({
        provider: about('As in `PROVIDER/MODEL`.', { ...text, pattern: '^[!-.0-~]+$' }),
        model: { ...text, pattern: '^[!-~]+$' },
        timeout: about('Ms until the first content.', whole(1, maxModelTimeout)),
        retries: about('Further attempts at this model.', whole(0, maxModelRetries)),
      }),
      outputs: about('`success` leads to an end; a call whose model fails goes to `fallback`.', byModel),
    }),
    closed({ id: elementId, type: exactly('end') }, { outputs: { type: 'object', maxProperties: 0 } }),
  ],
}

const name: Schema = about('Calls name the route as `dynamic/NAME`; unique within the gateway.', {
  ...text,
  pattern: namePattern,
})
const elements = listOf(named('RouteElement'), 1, maxElements)

export const newRoute = closed({ name, elements })
export const changedRoute = closed({ name })
export const newVersion = closed({ elements })
export const newDeployment = closed({ version_id: about('A version of the route.', id) })

const versionMembers = {
  version_id: id,
  active: about('Whether calls go to it.', oneOf(['true', 'false'])),
  is_valid: flag,
  data: about('The elements as JSON.', text),
  created_at: time,
}

export const routeVersion = open(versionMembers)
export const routeDeployment = open({ deployment_id: id, version_id: id, created_at: time })

const head = { id, account_tag: id, gateway_id: text, name: text, created_at: time, modified_at: time }

export const dynamicRoute = open({
  ...head,
  elements: listOf(named('RouteElement')),
  version: named('RouteVersion'),
  deployment: about('The deployment in effect.', named('RouteDeployment')),
})

export const versionOfRoute = open({ ...head, ...versionMembers, elements: listOf(named('RouteElement')) })

/** Returns a response whose content the published client reads from members other than `result`. */
export function responseWith(content: Readonly<Record<string, Schema>>): Schema {
  const none: Schema = { type: 'array', maxItems: 0 }
  return open({ success: exactly(true), errors: none, messages: none, ...content })
}

export function dataOf(name: string, item: Schema): Schema {
  return open({
    order_by: text,
    order_by_direction: oneOf(['asc', 'desc']),
    page: whole(1),
    per_page: whole(1),
    total_count: whole(0),
    [name]: listOf(item),
  })
}
