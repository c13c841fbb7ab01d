// Usual choices of permissions and scopes. Each is a rule, so that a permission which is added later is part of those that it fits.

interface Preset {
  readonly id: string
  readonly title: string
  /** What it holds, in a sentence. */
  readonly description: string
  readonly holds: (permission: Permitted) => boolean
}

/** A permission, or the scope of one. */
interface Permitted {
  /** It ends with what it lets do: Read, Write, Edit or Run. */
  readonly name: string
  readonly category: string
}

/** In the order in which they are offered. */
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

/** Returns the ids of the presets that hold a permission. */
export function presetsWith(permission: Permitted): readonly string[] {
  return presets.filter(({ holds }) => holds(permission)).map(({ id }) => id)
}
