import { forgetStates } from '../../../nodes/CrmPlatform/trigger/storedState';
import { useAlteredService } from '../../support/altered-trigger';
import { came, happen, replaceSecret, trigger } from '../../support/watched-trigger';

useAlteredService();

test('another process of n8n, which knows only the stored state, has the replaced secret', async () => {
	await trigger.activate();
	await replaceSecret();
	await trigger.look();
	forgetStates();
	await happen('Moreno');
	await came('Moreno');
	expect(trigger.answers).toEqual([200]);
});
