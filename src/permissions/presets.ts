// Usual choices of permissions and scopes, as rules that also cover permissions added later.

interface Preset {
  readonly id: string
  readonly title: string
  readonly description: string
  readonly holds: (permission: Permitted) => boolean
}

interface Permitted {
  /** It ends with what it lets do: Read, Write, Edit or Run. */
  readonly name: string
  readonly category: string
}

export const presets: readonly Preset[] = [
  {
    id: 'models',
    title: 'Call models',
    description: 'Calls to models through AI gateways, and nothing else.',
    holds: ({ name, category }) => category === 'ai_and_machine_learning' && name.endsWith(' Run'),
  },
  {
    id: 'read',
    title: 'Read only',
    description: 'Everything that only reads.',
    holds: ({ name }) => name.endsWith(' Read'),
  },
  {
    id: 'all',
    title: 'Everything',
    description: 'Everything that you may choose here.',
    holds: () => true,
  },
]

export function presetsWith(permission: Permitted): readonly string[] {
  return presets.filter(({ holds }) => holds(permission)).map(({ id }) => id)
}
