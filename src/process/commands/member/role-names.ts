// How people name roles at a terminal.

interface NamedRole {
  readonly id: string
  readonly name: string
}

/** Accepts names in any case, also without what follows a dash, and ids; or returns an error sentence. */
export function rolesNamed(
  names: readonly string[],
  roles: readonly NamedRole[],
): readonly string[] | string {
  const ids: string[] = []
  for (const name of names) {
    const role = roles.find(role => role.id === name || isNamed(role, name))
    if (!role) return `no role is named ${name}; the roles are ${roles.map(({ name }) => name).join(', ')}`
    ids.push(role.id)
  }
  return ids
}

function isNamed({ name }: NamedRole, wanted: string): boolean {
  const low = name.toLowerCase()
  return [low, low.split(' - ')[0]].includes(wanted.toLowerCase())
}
