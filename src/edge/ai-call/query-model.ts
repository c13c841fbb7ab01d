// The model that the handshake of a Realtime session names, in its query.

/** Returns the parameter `model` of a path; null for none, and for an odd one. */
export function modelInQuery(path: string): string | null {
  const at = path.indexOf('?')
  const model = at === -1 ? null : new URLSearchParams(path.slice(at)).get('model')
  return model === null || model === '' || model.length > longest ? null : model
}

const longest = 256
