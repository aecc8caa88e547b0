import { problemOf } from '../../nodes/CrmPlatform/api/http/problem';

const answer = (status: number, body: object) => ({ status, headers: {}, text: JSON.stringify(body) });

test.each([
	['There is no record con_1 in contacts.', 'There is no record con_1 in contacts.'],
	['Not Found', 'The record or path was not found'],
	['Nope', 'The record or path was not found: Nope'],
	['', 'The record or path was not found'],
])('the message of a 404 reports once what happened: %j', (detail, message) => {
	expect(problemOf(answer(404, { detail, code: 'not_found' })).message).toBe(message);
});

test('a message for programmers is reworded for users, once', () => {
	const detail = 'This needs the scope contacts:write. Connect again and ask the user to allow it.';
	const { message, description } = problemOf(answer(403, { detail, code: 'insufficient_scope', scope: 'contacts:write' }));
	expect(message).toBe('The credential does not have permission for this');
	expect(description).toBe('Add the scope contacts:write to the credential, then reconnect it.');
});
