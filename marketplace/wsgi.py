import os

from django.conf import settings
from django.core.management import call_command
from django.core.wsgi import get_wsgi_application

from common.database_limits import bound_pages
from common.wsgi import reading_to_the_end, refusing_what_is_no_text

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "marketplace.settings")
bound_pages()
application = refusing_what_is_no_text(get_wsgi_application())
if settings.SECURE_PROXY_SSL_HEADER:
    application = reading_to_the_end(application)
# A WSGI server does not run system checks by itself; a wrong configuration must not serve one request.
call_command("check")
