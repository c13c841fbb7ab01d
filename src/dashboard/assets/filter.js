// Filters a list by typed words, counts what is ticked in it, and ticks usual choices.

for (const box of document.querySelectorAll('[data-filter]')) {
  const list = document.getElementById(box.getAttribute('data-filter') ?? '')
  const input = box.querySelector('input')
  const count = box.querySelector('output')
  if (list === null || input === null) continue
  box.removeAttribute('hidden')
  const show = () => {
    const words = input.value.toLowerCase().split(/\s+/)
    for (const item of list.querySelectorAll('.option')) {
      const text = item.textContent?.toLowerCase() ?? ''
      item.toggleAttribute('hidden', !words.every(word => text.includes(word)))
    }
    for (const group of list.querySelectorAll('[data-group]'))
      group.toggleAttribute('hidden', group.querySelector('.option:not([hidden])') === null)
  }
  const tell = () => {
    if (count !== null) count.textContent = `${list.querySelectorAll(':checked').length} selected`
  }
  input.addEventListener('input', show)
  // Enter would send the form.
  input.addEventListener('keydown', event => {
    if (event.key === 'Enter') event.preventDefault()
  })
  list.addEventListener('change', tell)
  show()
  tell()
}

for (const button of document.querySelectorAll('button[data-ticks]')) {
  const list = document.getElementById(button.getAttribute('data-ticks') ?? '')
  if (list === null) continue
  button.addEventListener('click', event => {
    event.preventDefault()
    for (const item of list.querySelectorAll('[data-presets]')) {
      const box = item.querySelector('input')
      const presets = item.getAttribute('data-presets')?.split(' ') ?? []
      if (box !== null) box.checked = presets.includes(button.getAttribute('value') ?? '')
    }
    list.dispatchEvent(new Event('change'))
  })
}
