import gc
import os

from django.core.management import call_command
from django.core.wsgi import get_wsgi_application

from common.wsgi import refusing_what_is_no_text

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "annotate.settings")
application = refusing_what_is_no_text(get_wsgi_application())
# A WSGI server does not run system checks by itself; a wrong configuration must not serve one request.
call_command("check")
# What was loaded stays to the end: looking for garbage in it each time takes a fifth of the time of a large file.
gc.collect()
gc.freeze()
