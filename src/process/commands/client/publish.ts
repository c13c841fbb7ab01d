// `gatehouse client publish`: makes a client public; asks first, since it is irreversible.

import { type ApiMistake, ApiRefusal } from '../api/api-client.ts'
import type { Input } from '../input.ts'
import { columns, json } from '../../terminal/format.ts'
import { print, tell } from '../../terminal/output.ts'
import { confirmed } from '../api/confirm.ts'
import type { ShownClient } from './view.ts'

const deed = {
  consequence: 'publishing a client is irreversible',
  question:
    'Any user may authorize a public client, and publishing is irreversible. Type its id to publish it: ',
  refrained: 'Nothing was published.',
} as const

/**
 * Requires `--yes`, or the id retyped by a person; returns 1 when the person declines, or when preconditions
 * are missing, with how to meet each.
 */
export function publish(input: Input): Promise<number> {
  return confirmed(input, deed, async (api, path, id) => {
    try {
      const { result } = await api.ask('PATCH', path, { body: { visibility: 'public' } })
      tell(`The client ${id} is now public: any user may authorize it, and it cannot become private again.`)
      if (input.json) print(json(result))
      return 0
    } catch (cause) {
      if (!(cause instanceof ApiRefusal) || !cause.isFor('not_ready_for_public')) throw cause
      const { result } = await api.ask<ShownClient>('GET', path)
      tell(`The client ${id} cannot become public yet. Missing:`)
      tell(columns(cause.mistakes.map(mistake => rowOf(mistake, result))).trimEnd())
      return 1
    }
  })
}

/** Describes what is missing in terms of the command line, or in those of the API for unknown faults. */
function rowOf({ message }: ApiMistake, client: ShownClient): string[] {
  const [member = ''] = /\b(?:client_name|logo_uri|client_uri|scopes)\b/.exec(message) ?? []
  const { client_id: id, client_uri_verification: proof } = client
  const update = (option: string) => `gatehouse client update ${id} ${option}`
  switch (member) {
    case 'client_name':
      return ['  a name', update('--name NAME')]
    case 'logo_uri':
      return ['  a logo', update('--logo-uri URI')]
    case 'scopes':
      return ['  a scope that is not an identity scope', update('--scope ID')]
    case 'client_uri':
      return proof
        ? [`  proof that ${proof.host} is yours (${proof.status})`, `gatehouse client verify ${id}`]
        : ['  a home page, whose host must then be proven', update('--client-uri URI')]
    default:
      return [`  ${message}`]
  }
}
