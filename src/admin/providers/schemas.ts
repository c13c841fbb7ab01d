// Schemas of AI providers in responses.

import { errorRows } from '../../errors/catalogue/catalogue.ts'
import { about, flag, listOf, oneOf, open, orNull, text, time, whole } from '../schema/schema.ts'
import { providerStates, testOutcomes } from './state.ts'

const id = about(
  'The name, as in `openai`; of azure-openai with the resource, as in `azure-openai.RESOURCE`.',
  text,
)
const error = orNull(oneOf(Object.keys(errorRows)))
const count = whole(0)
const code = about('The code of the system, TLS or DNS; only where `origin` is shown.', text)

const made = about(
  'Of a key that is made from an identity at a cloud; only once a call needed it.',
  open(
    {
      expires_at: about('When it is replaced at the latest; null for none.', orNull(time)),
      failing_in: about('In how many processes the latest attempt to make one failed.', count),
    },
    { failure: about('Why; only where `origin` is shown.', text) },
  ),
)

const source = about(
  'Where the key comes from; only in the oldest account, for tokens with Metrics Read.',
  open({
    type: oneOf(['environment', 'file', 'configuration']),
    name: about('The variable, or the path of the file.', orNull(text)),
  }),
)

export const provider = open(
  {
    id,
    name: text,
    resource: orNull(text),
    is_configured: about('Whether the configuration has it; others are there since they were called.', flag),
    needs_key: about('Whether calls need a key.', flag),
    state: about(
      '`working`: it takes calls. `limited`: it takes no more for now, or all keys rest. `refused`: it does not accept the keys. `failing`: it failed, or did not respond. `no_key`: calls must bring one. `unknown`: no call since the start.',
      oneOf(providerStates),
    ),
    processes: about('How many processes of this machine know of it, whose view this is.', count),
    last_call_at: orNull(time),
    last_success_at: orNull(time),
    last_failure: {
      type: ['object', 'null'],
      required: ['at', 'status', 'error', 'in_a_row'],
      properties: {
        at: time,
        status: about('Of the provider; null where none came.', orNull(whole(100, 999))),
        error: about('The error that the caller got, where none came.', error),
        message: text,
        code,
        in_a_row: about('Failures since the last success.', count),
      },
    },
    keys: listOf(
      open(
        {
          number: about('Its place in the configuration.', whole(1)),
          resting_in: about('In how many processes it rests.', count),
          rests_until: orNull(time),
          rests_for_status: orNull(whole(400, 499)),
        },
        { made, source },
      ),
    ),
    priced_models: about('Those with a price; a `*` at the end stands for any rest.', listOf(text)),
    calls: about(
      'Calls that gateways of this account logged in the last 7 days, from all machines.',
      open({
        since: time,
        count,
        errors: count,
        last_at: orNull(time),
        models: about('The latest called first.', listOf(open({ model: text, count, last_at: time }))),
        is_complete: about('False while a part is still being summed up.', flag),
      }),
    ),
  },
  { origin: about('Where it is; only in the oldest account, for tokens with Metrics Read.', text) },
)

export const providerTest = open({
  provider_id: id,
  tested_at: time,
  path: about('What was asked for; below the path of its url where `origin` is not shown.', text),
  results: listOf(
    open(
      {
        key: about('The number of the key; null where none was sent.', orNull(whole(1))),
        outcome: oneOf(testOutcomes),
        message: about('What it means, and what to do.', text),
        status: orNull(whole(100, 999)),
        error,
        duration: about('Ms.', count),
      },
      { code },
    ),
  ),
})
