/**
 * Gives every block of code a button that copies it, and closes the menu behind who has chosen from it.
 *
 * Invariant: without it nothing is missing: the text can be selected. A browser that lets no page copy gets no button.
 */
const said = document.createElement('p');
said.className = 'skip';
said.setAttribute('role', 'status');

for (const block of navigator.clipboard === undefined ? [] : document.querySelectorAll('.code')) {
  const button = document.createElement('button');
  button.type = 'button';
  button.className = 'copy';
  button.textContent = 'Copy';
  const say = (words) => {
    button.textContent = words;
    said.textContent = words;
    setTimeout(() => {
      button.textContent = 'Copy';
      said.textContent = '';
    }, 2_000);
  };
  button.addEventListener('click', () => {
    navigator.clipboard.writeText(block.querySelector('pre').textContent).then(
      () => say('Copied'),
      () => say('Select it, please'),
    );
  });
  block.querySelector('figcaption').append(button);
}
document.body.append(said);

// Whoever has chosen from the menu of a narrow window reads on below it.
const menu = document.querySelector('.menu');
menu?.addEventListener('click', ({ target }) => {
  if (target instanceof Element && target.closest('a') !== null) menu.open = false;
});
