// Writes each time in the zone of the viewer, with the exact one to be seen by hovering.

const format = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'short' })

for (const time of document.querySelectorAll('time')) {
  const at = new Date(time.dateTime)
  if (Number.isNaN(at.getTime())) continue
  time.title = at.toISOString()
  time.textContent = format.format(at)
}
