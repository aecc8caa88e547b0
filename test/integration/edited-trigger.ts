import { startEditing, type EditedAnswer } from './edited-answers';
import { startTrigger } from './trigger';
import { replaceTrigger, sandbox, trigger } from './watched-trigger';

/** A service whose answers a test edits on their way to the trigger of that test. */
export const edited = { edit: (() => undefined) as (answer: EditedAnswer) => void, requests: [] as string[] };

export function useEditedAnswers(): void {
	let service: Awaited<ReturnType<typeof startEditing>>;
	beforeEach(async () => {
		await trigger.close();
		edited.edit = () => undefined;
		service = await startEditing(sandbox.url, (answer) => edited.edit(answer));
		edited.requests = service.requests;
		const credential = { ...sandbox.credential, baseUrl: service.url };
		replaceTrigger(await startTrigger({ credential, parameters: { events: ['contact.created'] } }));
	});
	afterEach(async () => {
		// The trigger has been closed before: jest runs the hooks of a file in the order in which it finds them.
		await service.close();
	});
}
