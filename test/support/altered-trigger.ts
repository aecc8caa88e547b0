import { alteredService, type AlteredService } from './altered-service';
import { startTrigger } from './webhook-trigger';
import { replaceTrigger, sandbox, trigger } from './watched-trigger';

/** Each test has a trigger of a service that the test can alter. */
export function useAlteredService(): AlteredService {
	const service = alteredService(sandbox, true);
	beforeEach(async () => {
		await trigger.close();
		replaceTrigger(await startTrigger({ credential: service.credential, parameters: { events: ['contact.created'] } }));
	});
	return service;
}
