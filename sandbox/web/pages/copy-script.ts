/**
 * Makes the buttons that copy the value before them. They stay hidden without a script, and where a
 * browser lets no page write to the clipboard, as over HTTP by a name other than localhost.
 */
export const copyScript = `
for (const button of navigator.clipboard ? document.querySelectorAll('button.copy') : []) {
	button.hidden = false;
	button.addEventListener('click', async () => {
		await navigator.clipboard.writeText(button.previousElementSibling.textContent);
		button.textContent = 'Copied';
	});
}
`;
